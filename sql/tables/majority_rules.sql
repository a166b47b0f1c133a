-- majority_rules: both rules' accuracy under each plausible definition of a majority, the project's
--     own and others; a replay with no vote is incorrect.
-- grain: archive, budget, definition
-- 'majority' is the project's selector; those down to 'unfinished_votes' change one thing each; the rest vote on labels or
-- are what another tool computes. Whatever reads a label is evaluation only, never a selector. A replay is incorrect where
-- "no answer" wins and, under 'abstain', where votes tie: so half correct and half incorrect labels are incorrect.
with definitions (definition, definition_id, ties, meaning) as (
    values
        ('majority', 0, 'first', 'most frequent normalized answer, ties to the first seen'),
        ('ties_last_seen', 0, 'last', 'as majority, but ties go to the answer seen last'),
        ('ties_averaged', 0, 'averaged', 'as majority, but ties score the mean of the tied answers'),
        ('ties_abstain', 0, 'abstain', 'as majority, but ties abstain and are incorrect'),
        ('raw_string', 1, 'first', 'as majority, but answers as written, not normalized'),
        ('no_answer_votes', 2, 'first', 'as majority, but "no answer" is a vote and can win'),
        ('unfinished_votes', 3, 'first', 'as majority, but whatever the finish reason'),
        ('label_majority', 6, 'abstain', 'more finished answers labelled correct than incorrect'),
        ('raw_string_all', 4, 'first', 'as written, any finish, "no answer" is a vote (lm-eval)'),
        ('answer_and_label', 5, 'averaged',
            'answer and label as one vote, ties averaged (NeMo-Skills)'),
        ('label_mode', 7, 'first', 'most frequent label, ties to the first seen (Inspect mode)'),
        ('label_half', 7, 'abstain', 'over half of all attempts labelled correct (scorio maj@k)')
),
-- Each is read more than once below, and what is behind it takes long.
order_votes as materialized (
{% include 'diagnostics/order_votes.sql' %}
),
votes_by_definition as materialized (
{% include 'diagnostics/votes_by_definition.sql' %}
),
majority_votes as (
{% include 'diagnostics/majority_votes.sql' %}
),
returned_votes as (
    select
        banks.archive_id,
        stops.budget,
        stops.rule,
        order_votes.order_votes_id,
        stops.returned,
        count(*) as replays,
    from primary_stops as stops
    inner join order_votes on stops.walk_id = order_votes.walk_id
    inner join banks on order_votes.bank_id = banks.bank_id
    where stops.rule in ('strict', 'advisory')
    group by banks.archive_id, stops.budget, stops.rule, order_votes.order_votes_id, stops.returned
),
counted as (
    select
        returned_votes.archive_id,
        returned_votes.budget,
        returned_votes.rule,
        votes_by_definition.definition_id,
        majority_votes.tied,
        sum(returned_votes.replays)::bigint as replays,
        coalesce(sum(returned_votes.replays) filter (majority_votes.is_first_correct), 0)::bigint as first_correct,
        coalesce(sum(returned_votes.replays) filter (majority_votes.is_last_correct), 0)::bigint as last_correct,
        coalesce(sum(returned_votes.replays * majority_votes.tied_correct), 0)::bigint as tied_correct,
    from returned_votes
    inner join votes_by_definition on returned_votes.order_votes_id = votes_by_definition.order_votes_id
    left join majority_votes
        on votes_by_definition.distinct_votes_id = majority_votes.distinct_votes_id
        and returned_votes.returned = majority_votes.position
    group by returned_votes.archive_id, returned_votes.budget, returned_votes.rule, votes_by_definition.definition_id, majority_votes.tied
),
totals as (
    select
        counted.archive_id,
        counted.budget,
        counted.rule,
        definitions.definition,
        sum(counted.replays) as replays,
        -- Fractions are added in one order: the sum is the same on any number of threads.
        sum(
            case
                when counted.tied is null then 0
                when definitions.ties = 'first' then counted.first_correct
                when definitions.ties = 'last' then counted.last_correct
                when definitions.ties = 'averaged' then counted.tied_correct / counted.tied
                when definitions.ties = 'abstain' and counted.tied = 1 then counted.first_correct
                else 0
            end
            order by counted.tied
        ) as correct,
    from counted
    inner join definitions on counted.definition_id = definitions.definition_id
    group by counted.archive_id, counted.budget, counted.rule, definitions.definition
    union all
    -- By a score, where selectors of the run read one.
    select
        walks.archive_id,
        stops.budget,
        stops.rule,
        read.definition || '_' || read.score as definition,
        count(*) as replays,
        count(*) filter (candidate_grades.is_correct) as correct,
    from primary_stops as stops
    inner join walks on stops.walk_id = walks.walk_id and walks.repeat > 0
    inner join graded_archives on walks.archive_id = graded_archives.archive_id and graded_archives.is_graded
    inner join (
        select distinct banks.archive_id, candidate_scores.score, unnest(['deepconf_top10', 'borda_half']) as definition
        from candidate_scores
        inner join banks on candidate_scores.bank_id = banks.bank_id
    ) as read on walks.archive_id = read.archive_id
    left join (
{% include 'diagnostics/scored_votes.sql' %}

    ) as scored_votes
        on stops.walk_id = scored_votes.walk_id
        and stops.returned = scored_votes.returned
        and read.score = scored_votes.score
        and read.definition = scored_votes.definition
    left join candidate_grades on scored_votes.candidate_id = candidate_grades.candidate_id
    where stops.rule in ('strict', 'advisory')
    group by walks.archive_id, stops.budget, stops.rule, read.definition, read.score
)
select
    archives.archive,
    strict.budget,
    strict.definition,
    coalesce(
        definitions.meaning,
        case
            when starts_with(strict.definition, 'deepconf_top10_')
            then 'the largest sum of scores, of those from the 90 % quantile on (DeepConf)'
            else 'the largest sum of roots of ranks by score (Borda vote of self-certainty)'
        end
    ) as meaning,
    100 * strict.correct / strict.replays as strict_accuracy,
    100 * advisory.correct / advisory.replays as advisory_accuracy,
    100 * (advisory.correct - strict.correct) / strict.replays as delta,
from totals as strict
inner join totals as advisory
    on strict.archive_id = advisory.archive_id
    and strict.budget = advisory.budget
    and strict.definition = advisory.definition
left join definitions on strict.definition = definitions.definition
inner join archives on strict.archive_id = archives.archive_id
where strict.rule = 'strict' and advisory.rule = 'advisory'
order by archives.archive, strict.budget, strict.definition
