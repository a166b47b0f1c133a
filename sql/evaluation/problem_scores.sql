-- problem_scores: integer totals of an archive at one problem and of a selector over the random
--     orders at the primary cap; correct answers are null without labels.
-- grain: archive, competition, question_id, budget, rule, selector
from primary_scores
union all
from other_scores
