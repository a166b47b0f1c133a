-- prompt_money: what the prompts of a prefix cost by the prices of the run, in millionths of a
--     millionth; no row where there are none.
-- grain: prefix_id
select
    walked_attempts.prefix_id,
    sum(
        prices.input::hugeint * (candidates.prompt_tokens - candidates.cached_tokens)
        + prices.cached_input::hugeint * candidates.cached_tokens
    ) over (partition by walked_attempts.walk_id order by walked_attempts.position) as prompt_money,
    prices.output,
from prices
inner join archives on prices.archive = archives.archive
inner join banks on archives.archive_id = banks.archive_id
inner join candidates on banks.bank_id = candidates.bank_id
inner join walked_attempts
    on candidates.bank_id = walked_attempts.bank_id
    and candidates.slot = walked_attempts.slot
