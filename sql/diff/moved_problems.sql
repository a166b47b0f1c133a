-- moved_problems: what a problem of both databases answers and costs in the old and in the new one,
--     a row for each measure that both have.
-- grain: measure, archive, budget, rule, competition, problem
select
    side.measure,
    archive,
    budget,
    rule,
    competition,
    problem,
    side.old as old,
    side.new as new,
    side.new - side.old as difference,
from (
    select
        archive,
        budget,
        rule,
        competition,
        problem,
        unnest([
            {'measure': 'accuracy', 'old': before.accuracy, 'new': after.accuracy},
            {'measure': 'cost', 'old': before.cost, 'new': after.cost},
        ]) as side,
    from old_means as before
    inner join new_means as after using (archive, budget, rule, competition, problem)
)
where difference is not null
