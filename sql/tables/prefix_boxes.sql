-- prefix_boxes: boundary events, how many prefixes could be examined, and how many of those show a
--     box; no correctness claim.
-- grain: archive, budget
select
    archives.archive,
    budgets.budget,
    count(prefix_events.seed) as boundary_events,
    count(*) filter (prefix_events.examined) as examined,
    count(prefix_events.seed) - count(*) filter (prefix_events.examined) as unverified,
    count(*) filter (prefix_events.any_box) as any_box,
    count(*) filter (prefix_events.last_box) as last_box,
from archives
cross join budgets
left join prefix_events
    on archives.archive = prefix_events.archive
    and budgets.budget = prefix_events.budget
group by archives.archive, budgets.budget
order by archives.archive, budgets.budget
