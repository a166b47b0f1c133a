-- by_competition: the primary selector's accuracy under both rules within each competition.
-- grain: archive, competition, budget
with totals as (
    select
        archives.archive,
        problems.competition,
        selection_scores.budget,
        sum(selection_scores.replays) filter (rules.rule = 'strict') as replays,
        sum(selection_scores.correct) filter (rules.rule = 'strict') as strict_correct,
        sum(selection_scores.correct) filter (rules.rule = 'advisory') as advisory_correct,
    from selection_scores
    inner join selectors on selection_scores.selector_id = selectors.selector_id
    inner join rules on selection_scores.rule_id = rules.rule_id
    inner join caps on selection_scores.cap = caps.cap
    inner join banks on selection_scores.bank_id = banks.bank_id
    inner join archives on banks.archive_id = archives.archive_id
    inner join problems on banks.problem_id = problems.problem_id
    where selectors.is_primary and caps.is_primary
    group by archives.archive, problems.competition, selection_scores.budget
)
select
    archive,
    competition,
    budget,
    100 * strict_correct / replays as strict_accuracy,
    100 * advisory_correct / replays as advisory_accuracy,
    100 * (advisory_correct - strict_correct) / replays as delta,
from totals
order by archive, competition, budget
