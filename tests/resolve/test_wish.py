"""What users may ask for, and what comes back when it does not exist."""

from __future__ import annotations

import pytest

from envsetup.errors import UsageError
from envsetup.resolve.wish import Wish, parse_stack


@pytest.mark.parametrize(
    ("text", "name", "inside", "outside"),
    [
        ("tensorflow-gpu", "tensorflow-gpu", "2.3.4", None),
        ("tensorflow-gpu==2.3", "tensorflow-gpu", "2.3.4", "2.4.4"),
        ("tensorflow-gpu==2.3.4", "tensorflow-gpu", "2.3.4", "2.3.3"),
        ("tensorflow-gpu=2.3", "tensorflow-gpu", "2.3.4", "2.4.4"),
        ("tensorflow-gpu==1.x", "tensorflow-gpu", "1.15.5", "2.0.4"),
        ("tensorflow-gpu==1.*", "tensorflow-gpu", "1.15.5", "2.0.4"),
        ("TensorFlow_GPU < 2", "tensorflow-gpu", "1.15.5", "2.0.4"),
        ("tensorflow-gpu>=2.1,<2.4", "tensorflow-gpu", "2.3.4", "2.4.4"),
    ],
)
def test_a_stack_is_a_name_with_a_version_or_range(text, name, inside, outside):
    family, versions = parse_stack(text)
    assert family == name
    assert inside in versions
    assert outside is None or outside not in versions


@pytest.mark.parametrize("text", ["", "==2", "tensorflow-gpu==banana", "a b c"])
def test_garbage_is_refused(text):
    with pytest.raises(UsageError):
        parse_stack(text)


@pytest.mark.parametrize(
    ("wish", "word"),
    [
        (Wish(backend="dlm"), "dml"),
        (Wish(framework="pytorch"), "torch"),
        (Wish(stack="tensorflow"), "tensorflow-gpu"),
    ],
)
def test_a_word_that_does_not_exist_is_answered_with_those_that_do(wish, word):
    with pytest.raises(UsageError) as caught:
        wish.check()
    assert word in caught.value.hint
