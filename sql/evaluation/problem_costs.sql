-- problem_costs: integer totals of an archive at one problem over its random orders at the primary
--     cap: what they cost whatever the selector, and how many the primary selector answers.
-- grain: archive, competition, question_id, budget, rule
-- kept: table by walks
with totals as (
    select
        stops.bank_id,
        stops.budget,
        stops.rule,
        count(*) as replays,
        case
            when bool_and(coverage.is_graded) then count(*) filter (coverage.covered_from <= stops.returned)
        end as covered,
        sum(stops.launched)::bigint as launched,
        sum(stops.cost)::bigint as cost,
        count(picks.candidate_id) as answered,
        count(*) filter (candidate_grades.is_correct) as correct,
        count(*) filter (candidate_grades.is_repaired_correct) as repaired_correct,
    from primary_stops as stops
    inner join coverage on stops.walk_id = coverage.walk_id
    left join primary_picks as picks
        on stops.walk_id = picks.walk_id
        and stops.returned >= picks.from_position
        and stops.returned < picks.until_position
    left join candidate_grades on picks.candidate_id = candidate_grades.candidate_id
    where
        stops.repeat > 0
        and stops.walk_id between coalesce(getvariable('first_walk'), 0)
        and coalesce(getvariable('last_walk'), 9223372036854775807)
    group by stops.bank_id, stops.budget, stops.rule
)
select
    archives.archive,
    problems.competition,
    problems.question_id,
    problems.problem_id,
    totals.bank_id,
    totals.budget,
    totals.rule,
    totals.replays,
    totals.covered,
    totals.launched,
    totals.cost,
    totals.answered,
    totals.correct,
    totals.repaired_correct,
from totals
inner join banks on totals.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
