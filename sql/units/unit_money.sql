-- unit_money: what a step costs, in billionths: by the archive's prices where the run has some,
--     else as it was billed.
-- grain: bank_id, slot, step
-- Prices are whole numbers: millionths of the money that a million tokens cost.
select
    charges.bank_id,
    charges.slot,
    charges.step,
    case
        when prices.archive is not null
        then (
            prices.input::hugeint * (charges.prompt_tokens - charges.cached_tokens)
            + prices.cached_input::hugeint * charges.cached_tokens
            + prices.output::hugeint * charges.completion_tokens
            + 500
        ) // 1000
        else floor(1e9 * charges.money + 0.5)
    end::bigint as cost,
from charges
inner join banks on charges.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
left join prices on archives.archive = prices.archive
