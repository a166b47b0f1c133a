-- source_audit: what the loaded records that are replayed hold: boxes, length-capped attempts, agreement of the two
--     extractions, median cost.
-- grain: archive, competition
select
    archive,
    competition,
    count(*) as records,
    count(*) filter (answer is null) as no_box,
    count(*) filter (finish_reason = 'length') as length,
    count(*) filter (answer = archive_answer) as parser_agreement,
    quantile_cont(completion_tokens::double, 0.5) as median_tokens,
from attempts
anti join unreplayed_problems using (archive, competition, question_id)
group by archive, competition
order by archive, competition
