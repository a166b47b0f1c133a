"""What is the answer? Boxes, the normal form, and how answers are taken out of an attempt."""

from audit.answers.boxes import BOX, boxed_answer, complete_boxes, last_box
from audit.answers.normal_form import normalize

__all__ = ["BOX", "boxed_answer", "complete_boxes", "last_box", "normalize"]
