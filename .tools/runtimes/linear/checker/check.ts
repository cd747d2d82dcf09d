/** Whether a history is linearizable: whether each call can have taken effect at one instant between its beginning and its end. */
import { checkDocuments } from "./documents.ts"
import type { History } from "./history.ts"
import { checkLog } from "./log.ts"

/** One sentence for each violation; empty for a history that a correct storage can have. Takes time linear in the history. */
export function check({ atomicBatch, log, documents, operations }: History): readonly string[] {
  const onDocuments = operations.filter((operation) => operation.kind === "put" || operation.kind === "get")
  const onLog = operations.filter((operation) => operation.kind !== "put" && operation.kind !== "get")
  return [...checkLog({ atomicBatch, log, operations: onLog }), ...checkDocuments(onDocuments, documents)]
}
