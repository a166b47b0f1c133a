-- one_problem: the problem of the attempts that a controller records.
-- grain: problem_id
select
    1 as problem_id,
    0 as competition_index,
    'live' as competition,
    0 as question_id,
    null::varchar as name,
