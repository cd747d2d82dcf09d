/**
 * The program under test: how an agent's loop calls the library. It knows nothing of the hidden world, only what a program knows: its
 * settings, what the provider answers, and perhaps how much it sends beside the messages.
 */
import { type AssistantMessage, createSessions, type ModelMessage, type Session } from "@sessions/core"
import {
  autoCompact,
  automaticCompaction,
  type CompactionSettings,
  isTooLong,
  makeRoom,
  type Summarize,
} from "@sessions/core/compaction"
import { createMemoryStorage, type MemoryLocation } from "@sessions/memory"

export interface Request {
  readonly messages: readonly ModelMessage[]
  /** The size that the library gives the request, overhead included as far as it knows it. */
  readonly predicted: number
}

export interface LoopOptions {
  readonly location: MemoryLocation
  readonly settings: CompactionSettings
  readonly summarize: Summarize
  /** Tokens beside the messages, if the program knows them. */
  readonly overhead?: number
}

export interface Loop {
  readonly session: Session
  /** Asks the model once: resolves when it has answered, and rejects if the loop gives up. `send` rejects with the provider's words. */
  ask(send: (request: Request) => Promise<AssistantMessage>): Promise<void>
  /** The context with no message shortened or left out. */
  whole(): Promise<readonly ModelMessage[]>
}

export const SESSION = "s"
export const REBASE = { onConflict: "rebase" } as const

/** The loop of docs/compaction.md. */
export async function openLoop({ location, settings, summarize, overhead = 0 }: LoopOptions): Promise<Loop> {
  const sessions = createSessions({
    storage: createMemoryStorage({ location }),
    compaction: automaticCompaction({ ...settings, summarize, overheadTokens: overhead }),
  })
  const session = await sessions.openOrCreate(SESSION)

  return {
    session,
    async whole() {
      await session.flush()
      // In a larger window no step holds.
      const larger = createSessions({
        storage: createMemoryStorage({ location }),
        compaction: automaticCompaction({ contextWindow: 1e9 }),
      })
      const copy = await larger.open(SESSION)
      const { messages } = await copy.context()
      await copy.close()
      return messages.map(({ message }) => message)
    },
    async ask(send) {
      await autoCompact(session)
      for (await makeRoom(session); ; ) {
        const context = await session.context()
        try {
          const messages = context.messages.map(({ message }) => message)
          const message = await send({ messages, predicted: context.tokens })
          await session.append({ type: "message", message }, REBASE)
          return
        } catch (error) {
          if (!isBusy(error)) await makeRoom(session, { error })
        }
      }
    },
  }
}

/** A program waits and repeats the same request. */
export function isBusy(error: unknown): boolean {
  const { status } = error as { readonly status?: unknown }
  return (status === 429 || status === 529) && !isTooLong(error)
}
