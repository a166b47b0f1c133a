-- prompt_money: what the prompts of a walk cost up to a position by the prices of the run, in
--     millionths of a millionth; no row where there are none.
-- grain: walk_id, position
select
    walked.walk_id,
    walked.position,
    sum(
        prices.input::hugeint * (candidates.prompt_tokens - candidates.cached_tokens)
        + prices.cached_input::hugeint * candidates.cached_tokens
    ) over (partition by walked.walk_id order by walked.position) as prompt_money,
    prices.input,
    prices.cached_input,
    prices.output,
from prices
inner join archives on prices.archive = archives.archive
inner join banks on archives.archive_id = banks.archive_id
inner join candidates on banks.bank_id = candidates.bank_id
inner join walked on candidates.candidate_id = walked.candidate_id
