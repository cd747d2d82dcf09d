/** What the user typed in all sessions of this browser, for arrow-up. Its code is loaded at the first use. */
import type { PromptHistory, StoredPrompt } from "@sessions/history"
import type { Context } from "./context.ts"

export interface Prompts {
  /** The prompt that was typed before the one with the id `before`, by default the newest; undefined if there is none. */
  readonly olderPrompt: (before?: number) => Promise<StoredPrompt | undefined>
}

export interface PromptRecord extends Prompts {
  readonly add: (prompt: string) => Promise<void>
}

export function createPrompts({ attempt }: Context): PromptRecord {
  let history: Promise<PromptHistory> | undefined

  async function open(): Promise<PromptHistory> {
    const { createIndexedDbHistory } = await import("@sessions/history/indexeddb")
    return createIndexedDbHistory({ database: "browser-agent-history" })
  }

  function opened(): Promise<PromptHistory> {
    history ??= open()
    // If its code could not be loaded, the next use tries again.
    history.catch(() => (history = undefined))
    return history
  }

  return {
    async olderPrompt(before) {
      const page = await attempt("bring back earlier messages", async () =>
        (await opened()).recent({ limit: 1, ...(before === undefined ? {} : { before }) }),
      )
      return page?.[0]
    },
    async add(prompt) {
      await attempt("remember the message for arrow-up", async () => {
        const prompts = await opened()
        prompts.add(prompt)
        await prompts.flush()
      })
    },
  }
}
