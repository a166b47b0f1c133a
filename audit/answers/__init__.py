"""Answers: find them in texts (boxes, patterns) and normalize them for comparison."""

from audit.answers.boxes import BOX, boxed_answer, complete_boxes, last_box
from audit.answers.normal_form import normalize

__all__ = ["BOX", "boxed_answer", "complete_boxes", "last_box", "normalize"]
