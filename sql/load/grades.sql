-- grades: the label of an attempt, null in an unlabelled archive, and the label repaired: true too
--     where its answer equals a reference that it accepts.
-- grain: archive, competition, question_id, seed
select
    archive,
    competition,
    question_id,
    seed,
    correct,
    correct or (reference is not null and correct is not null) as repaired_correct,
from ({% include "load/label_references.sql" %}) as label_references
