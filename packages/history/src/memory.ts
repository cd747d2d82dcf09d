/** A history in memory: for tests, and for programs that keep nothing. */
import { checkOptions } from "@sessions/core/storage"
import { createHistory, HISTORY_OPTIONS } from "./history.ts"
import { toPrompt } from "./stored.ts"
import type { HistoryOptions, NewPrompt, Page, PromptHistory, PromptStore, StoredPrompt } from "./types.ts"
import { hasWords } from "./words.ts"

/** Throws `invalid` for unknown options and wrong values. */
export function createMemoryHistory(o: HistoryOptions = {}): PromptHistory {
  checkOptions("createMemoryHistory", o, HISTORY_OPTIONS)
  return createHistory("createMemoryHistory", createStore(), o)
}

interface Row extends NewPrompt {
  readonly id: number
}

function createStore(): PromptStore {
  /** Oldest first. */
  let rows: Row[] = []
  let lastId = 0

  function select({ limit, cwd, before }: Page, isWanted: (prompt: string) => boolean): StoredPrompt[] {
    const found: StoredPrompt[] = []
    for (const { id, prompt, at, ...row } of rows.toReversed()) {
      if (found.length === limit) break
      if (before !== undefined && id >= before) continue
      if (cwd !== undefined && row.cwd !== cwd) continue
      if (isWanted(prompt)) found.push(toPrompt(id, prompt, at, row.cwd))
    }
    return found
  }

  function keep(isKept: (row: Row) => boolean): number {
    const before = rows.length
    rows = rows.filter(isKept)
    return before - rows.length
  }

  return {
    async insert(prompts) {
      for (const prompt of prompts) {
        if (prompt.prompt !== rows.at(-1)?.prompt) rows.push({ id: ++lastId, ...prompt })
      }
    },
    recent: async (page) => select(page, () => true),
    search: async (words, page) => select(page, (prompt) => hasWords(prompt, words)),
    delete: async (id) => keep((row) => row.id !== id) > 0,
    clear: async (before) => keep(({ at }) => before !== undefined && at >= before),
    close: async () => undefined,
  }
}
