-- From form 11 to form 12: what work cost has a view; indices of costs, which no query reads since they are counted, go.

CREATE VIEW usage AS
    SELECT 'conversation' AS work, id, id AS conversation_id, calls, input_tokens, cached_tokens, output_tokens, cost,
        unpriced, seconds FROM conversations
    UNION ALL SELECT 'judgement', id, conversation_id, calls, input_tokens, cached_tokens, output_tokens, cost, unpriced,
        seconds FROM judgements
    UNION ALL SELECT 'comparison', id, first_id, calls, input_tokens, cached_tokens, output_tokens, cost, unpriced,
        seconds FROM comparisons;
DROP INDEX conversations_spent;
DROP INDEX judgements_spent;
DROP INDEX comparisons_spent;
