"""What people read: plans, results, facts and findings on a terminal or a page."""
