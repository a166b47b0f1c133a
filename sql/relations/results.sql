-- results: one replay of a random order at the primary cap with a selector's answer: what it cost
--     and whether it is correct; the relation to begin with.
-- grain: archive, competition, question_id, repeat, budget, rule, selector
select
    walks.archive,
    walks.competition,
    walks.question_id,
    walks.repeat,
    ledger.budget,
    ledger.rule,
    used_selectors.selector,
    ledger.cost,
    ledger.prompt_tokens,
    -- In another unit than tokens or money nobody knows how much of a cut attempt was paid.
    case unit.unit
        when 'money' then ledger.cost / 1e9
        when 'completion' then (
            prompt_money.prompt_money + prompt_money.output::hugeint * ledger.cost
            - prompt_money.input::hugeint * (ledger.unbegun_prompts - ledger.unbegun_cached)
            - prompt_money.cached_input::hugeint * ledger.unbegun_cached
        ) / 1e12
    end as money,
    ledger.launched,
    ledger.returned,
    coalesce(eligible_counts.eligible_count, 0) as eligible,
    ledger.is_covered as covered,
    case when used_selectors.votes_on = 'archive_answer' then candidates.archive_answer else candidates.answer end as answer,
    case when graded_archives.is_graded then coalesce(candidate_grades.is_correct, false) end as correct,
    walks.problem_id,
from primary_ledger as ledger
inner join walks on ledger.walk_id = walks.walk_id
cross join unit
left join (
{% include 'evaluation/prompt_money.sql' %}

) as prompt_money
    on ledger.walk_id = prompt_money.walk_id
    and ledger.launched = prompt_money.position
inner join graded_archives on walks.archive_id = graded_archives.archive_id
left join eligible_counts
    on ledger.walk_id = eligible_counts.walk_id
    and ledger.returned = eligible_counts.position
cross join used_selectors
left join picks
    on used_selectors.selector_id = picks.selector_id
    and ledger.walk_id = picks.walk_id
    and ledger.returned >= picks.from_position
    and ledger.returned < picks.until_position
left join candidate_grades on picks.candidate_id = candidate_grades.candidate_id
left join candidates on picks.candidate_id = candidates.candidate_id
where walks.repeat > 0
