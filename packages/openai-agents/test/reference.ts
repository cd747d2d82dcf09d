/** The history as the SDK's `MemorySession` has it, for items of any shape: the reference of the model tests. */
import { isDeepStrictEqual } from "node:util"
import type { AgentSession, HistoryMutation, HistoryTransactionArgs } from "@sessions/openai-agents"

export class ReferenceSession
  implements Omit<AgentSession<object>, "close" | "prepareHistoryItemForModelInput" | typeof Symbol.asyncDispose>
{
  #items: object[] = []
  #operations = new Map<string, unknown>()

  async getSessionId(): Promise<string> {
    return "reference"
  }

  async getItems(limit?: number): Promise<object[]> {
    if (limit === undefined) return structuredClone(this.#items)
    return limit <= 0 ? [] : structuredClone(this.#items.slice(-limit))
  }

  async addItems(items: readonly object[]): Promise<void> {
    this.#items.push(...structuredClone(items))
  }

  async popItem(): Promise<object | undefined> {
    return this.#items.pop()
  }

  async clearSession(): Promise<void> {
    this.#items = []
    this.#operations = new Map()
  }

  async replaceHistoryWithCompaction(items: readonly object[]): Promise<void> {
    this.#items = [...structuredClone(items)]
  }

  async applyHistoryTransaction({ operationId, transaction }: HistoryTransactionArgs<object>): Promise<void> {
    if (this.#operations.has(operationId)) {
      if (isDeepStrictEqual(this.#operations.get(operationId), transaction)) return
      throw new Error("taken")
    }
    if (transaction.type === "append_items") this.#items.push(...structuredClone(transaction.items))
    else {
      const { expectedSuffix, replacement } = transaction
      const from = this.#items.length - expectedSuffix.length
      if (from < 0 || !isDeepStrictEqual(this.#items.slice(from), expectedSuffix)) throw new Error("differs")
      this.#items.splice(from, expectedSuffix.length, ...structuredClone(replacement))
    }
    this.#operations.set(operationId, structuredClone(transaction))
  }

  async applyHistoryMutations({ mutations }: { readonly mutations: readonly HistoryMutation[] }): Promise<void> {
    for (const { callId, replacement } of mutations) {
      let isReplaced = false
      this.#items = this.#items.flatMap((item) => {
        const { type, callId: id } = item as Record<string, unknown>
        if (type !== "function_call" || id !== callId) return [item]
        if (isReplaced) return []
        isReplaced = true
        return [structuredClone(replacement)]
      })
    }
  }
}
