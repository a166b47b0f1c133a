-- labels_constant_in_problem: problems of several attempts that have one label although their answers
--     differ or are none, counted where every such problem of the archive has one label, of them all.
-- grain: archive
with labelled as (
    select
        archive,
        competition,
        question_id,
        min(correct) = max(correct) as has_one_label,
        min(correct) as is_correct,
    from labels
    where correct is not null
    group by archive, competition, question_id
    having count(*) > 1
),
suspects as (
    select archive
    from labelled
    group by archive
    having bool_and(has_one_label) and bool_or(is_correct) and not bool_and(is_correct)
),
answering as (
    -- Most archives are no suspects: their answers need not be compared.
    select
        archive,
        competition,
        question_id,
        count(answer) < count(*) or min(answer) <> max(answer) as has_several_answers,
    from attempts
    semi join suspects using (archive)
    group by archive, competition, question_id
)
select
    archive,
    count(*) filter (answering.has_several_answers) as count,
    count(*) as total,
from labelled
left join answering using (archive, competition, question_id)
group by archive
