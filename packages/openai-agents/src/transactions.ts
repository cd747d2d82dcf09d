/** Checks transactions as the SDK's `MemorySession` does, with its texts, and applies mutations to a list of items. */
import { SessionError } from "@sessions/core"
import { isObject, toEntry } from "./items.ts"
import type { HistoryMutation, HistoryTransaction, HistoryTransactionArgs } from "./types.ts"

export type Transaction = HistoryTransaction<object>

/** A copy of the arguments. Throws `invalid` for a wrong shape or items that cannot be stored. */
export function checkTransaction(args: HistoryTransactionArgs<object>): HistoryTransactionArgs<object> {
  if (!isObject(args)) throw refusedError("Session history transaction arguments are invalid.")
  const { operationId, transaction } = args
  if (typeof operationId !== "string" || operationId.trim() === "")
    throw refusedError("Session history transaction operationId must be a non-empty string.")
  if (!isObject(transaction)) throw refusedError("Session history transaction must be an object.")
  return { operationId, transaction: checked(transaction) }
}

function checked(transaction: Readonly<Record<string, unknown>>): Transaction {
  const { type, items, expectedSuffix, replacement } = transaction
  const fields = Object.keys(transaction).length
  if (type === "append_items") {
    if (fields !== 2 || !Array.isArray(items))
      throw refusedError("Session history append transaction fields are invalid.")
    return { type, items: copied(items) }
  }
  if (type !== "replace_suffix") throw refusedError("Unsupported session history transaction type.")
  if (fields !== 3 || !Array.isArray(expectedSuffix) || !Array.isArray(replacement))
    throw refusedError("Session history suffix transaction fields are invalid.")
  return { type, expectedSuffix: copied(expectedSuffix), replacement: copied(replacement) }
}

function copied(items: readonly unknown[]): readonly object[] {
  const copies = structuredClone(items)
  // Refuses what cannot be stored.
  for (const item of copies) toEntry(item as object)
  return copies as object[]
}

/** The items from the first that changes, with the calls replaced; undefined if there is no such call. */
export function mutate(
  items: readonly object[],
  mutations: readonly HistoryMutation[],
): { readonly from: number; readonly items: readonly object[] } | undefined {
  let changed: object[] = [...items]
  for (const mutation of mutations) {
    if (mutation.type === "replace_function_call") changed = withCallReplaced(changed, mutation)
  }
  const from = items.findIndex((item, index) => item !== changed[index])
  return from < 0 ? undefined : { from, items: changed.slice(from) }
}

/** The first call with the id is replaced, further ones are dropped. */
function withCallReplaced(items: readonly object[], { callId, replacement }: HistoryMutation): object[] {
  let isReplaced = false
  return items.flatMap((item) => {
    const { type, callId: id } = item as { readonly type?: unknown; readonly callId?: unknown }
    if (type !== "function_call" || id !== callId) return [item]
    if (isReplaced) return []
    isReplaced = true
    return [replacement]
  })
}

function refusedError(message: string): SessionError {
  return new SessionError("invalid", message)
}
