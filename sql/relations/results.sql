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
        when 'completion' then (prompt_money.prompt_money + prompt_money.output::hugeint * ledger.cost) / 1e12
    end as money,
    ledger.launched,
    ledger.returned,
    eligible_counts.eligible_count as eligible,
    ledger.is_covered as covered,
    case when used_selectors.votes_on = 'archive_answer' then candidates.archive_answer else candidates.answer end as answer,
    case when graded_archives.is_graded then coalesce(prefix_grades.is_correct, false) end as correct,
from primary_ledger as ledger
inner join walks on ledger.walk_id = walks.walk_id
cross join unit
left join prompt_money on ledger.launched_prefix_id = prompt_money.prefix_id
inner join graded_archives on walks.archive_id = graded_archives.archive_id
inner join eligible_counts on ledger.returned_prefix_id = eligible_counts.prefix_id
inner join prefix_selections on ledger.returned_prefix_id = prefix_selections.prefix_id
inner join used_selectors on prefix_selections.selector_id = used_selectors.selector_id
left join prefix_grades on prefix_selections.selected_prefix_id = prefix_grades.prefix_id
left join candidates
    on prefix_grades.bank_id = candidates.bank_id
    and prefix_grades.slot = candidates.slot
where walks.repeat > 0
