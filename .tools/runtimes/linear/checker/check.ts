/** Whether a history is linearizable: whether each call can have taken effect at one instant between its beginning and its end. */
import { checkDocuments } from "./documents.ts"
import type { History, Look, Operation } from "./history.ts"
import { checkLog } from "./log.ts"
import { checkLogs } from "./logs.ts"

/** One sentence for each violation; empty for a history that a correct storage can have. Takes time linear in the history. */
export function check({ atomicBatch, log, documents, operations: all }: History): readonly string[] {
  const onDocuments = all.filter((operation) => operation.kind === "put" || operation.kind === "get")
  const resets = all.filter((operation) => operation.kind === "replace" || operation.kind === "delete")
  const operations = all.filter(
    (operation) => operation.kind === "append" || operation.kind === "read" || isLook(operation),
  )
  const onLog =
    resets.length === 0
      ? checkLog({ atomicBatch, log, operations })
      : checkLogs({ atomicBatch, log, operations, resets })
  return [...onLog, ...checkDocuments(onDocuments, documents)]
}

function isLook(operation: Operation): operation is Look {
  return operation.kind === "head" || operation.kind === "list"
}
