/**
 * The program under test: how an agent's loop calls the library. It knows nothing of the hidden world, only what a program knows: its
 * settings, what the provider answers, and perhaps how much it sends beside the messages.
 */
import {
  type AssistantMessage,
  type CompactionSettings,
  createSessions,
  type ModelMessage,
  type PruneOptions,
  type Session,
  type Summarize,
} from "@sessions/core"
import { isTooLong, windowOf } from "@sessions/core/compaction"
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

/** What docs/context.md says of a context that does not fit, one step after the other; a compaction is between the last two. */
const STEPS: readonly { readonly prune?: boolean | PruneOptions; readonly compact?: true }[] = [
  {},
  { prune: true },
  { prune: { aggressive: true } },
  { compact: true, prune: { aggressive: true } },
  { prune: { softTrimShare: 0, hardClearShare: false, keepAssistantMessages: 0, exemptTools: [] } },
]

export async function openLoop({ location, settings, summarize, overhead = 0 }: LoopOptions): Promise<Loop> {
  const sessions = createSessions({
    storage: createMemoryStorage({ location }),
    compaction: { ...settings, summarize },
  })
  const session = await sessions.openOrCreate(SESSION)

  return {
    session,
    async whole() {
      const { messages } = await session.context({ prune: false })
      return messages.map(({ message }) => message)
    },
    async ask(send) {
      await session.autoCompact()
      for (let step = 0; ; ) {
        const { compact, prune = false } = STEPS[step] as (typeof STEPS)[number]
        if (compact === true) await session.compact({ reason: "overflow" }).catch(() => {})
        const { model } = await session.context()
        const window = (windowOf(model?.model ?? "", settings.windows) ?? 200_000) - overhead
        const context = await session.context({ window: Math.max(1, window), prune })
        const isLast = step === STEPS.length - 1
        if (context.fits === false && !isLast) {
          step++
          continue
        }
        try {
          const messages = context.messages.map(({ message }) => message)
          const message = await send({ messages, predicted: context.tokens + overhead })
          await session.append({ type: "message", message }, REBASE)
          return
        } catch (error) {
          if (isBusy(error)) continue
          if (isLast || !isTooLong(error)) throw error
          step++
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
