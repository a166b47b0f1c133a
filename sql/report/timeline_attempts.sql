-- timeline_attempts: the attempts of one order: where each starts and ends, its answer, and whether
--     it may be picked.
-- grain: position
select
    prefixes.position,
    prefixes.seed,
    prefixes.cost,
    prefixes.cumulative_cost - prefixes.cost as start,
    prefixes.cumulative_cost as stop,
    prefixes.eligible_count > lag(prefixes.eligible_count) over (order by prefixes.position) as eligible,
    attempts.finish_reason,
    case (select votes_on from used_selectors where is_primary)
        when 'archive_answer' then attempts.archive_answer
        else attempts.answer
    end as answer,
from prefixes
left join attempts using (archive, competition, question_id, seed)
where
    archive = $archive
    and competition = $competition
    and question_id = $question_id
    and repeat = $repeat
    and prefixes.position <= $cap
qualify prefixes.position > 0
order by prefixes.position
