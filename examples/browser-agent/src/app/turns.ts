/** Turns of the agent on the session that is shown. */
import { type Doing, runTurn } from "../agent/turn.ts"
import { withTurnTold } from "../sessions/presence.ts"
import type { Context } from "./context.ts"
import type { Listing } from "./listing.ts"
import { noticeOf } from "./notices.ts"
import type { Showing } from "./shown-session.ts"

export interface Talking {
  /**
   * Says it at the leaf that is shown, or after `from`. Resolves as soon as it is stored; false where it could not be: then it is
   * still the caller's to keep.
   */
  readonly send: (prompt: string, from?: string | null) => Promise<boolean>
  /** Takes up a turn that was cut off, or answers once more. */
  readonly goOn: (from: string | null) => Promise<void>
  readonly stop: () => void
  readonly compact: () => Promise<void>
}

export function createTalking(context: Context, showing: Showing, listing: Listing): Talking {
  const { sessions, store, attempt, model } = context
  const stops = new Map<string, AbortController>()

  function tell(id: string, doing: Doing | undefined): void {
    const turns = new Map(store.get().turns)
    if (doing === undefined) turns.delete(id)
    else turns.set(id, doing)
    store.set({ turns })
  }

  /** Resolves when the prompt is stored, or cannot be; the turn goes on. */
  function turn(from: string | null, prompt?: string): Promise<boolean> {
    return new Promise((resolve) => {
      run(from, prompt, () => resolve(true))
        .catch((error: unknown) => store.set({ notice: noticeOf(error, "finish the turn") }))
        .finally(() => resolve(false))
    })
  }

  async function run(from: string | null, prompt: string | undefined, onStored: () => void): Promise<void> {
    const opened = showing.current()
    if (opened === undefined || stops.has(opened.id)) return
    const { id } = opened
    const stop = new AbortController()
    stops.set(id, stop)
    store.set({ notice: undefined })
    tell(id, { kind: "thinking" })
    const stay = showing.followLeaf(id)
    let doing = prompt === undefined ? "finish the turn" : "send the message"
    const told = {
      tell: (what: Doing) => tell(id, what),
      onStored() {
        doing = "finish the turn"
        onStored()
      },
    }
    const said = prompt === undefined ? {} : { prompt }
    try {
      await withTurnTold(id, () =>
        opened.run((session) =>
          runTurn(session, { model: model(), from, signal: stop.signal, ...said, ...told }).finally(() =>
            stay(session),
          ),
        ),
      )
    } catch (error) {
      if (!stop.signal.aborted) store.set({ notice: noticeOf(error, doing) })
    } finally {
      stops.delete(id)
      tell(id, undefined)
      await listing.changed()
    }
  }

  return {
    async send(prompt, from) {
      if (showing.current() === undefined) {
        const made = await attempt("make a session", () => sessions.create())
        if (made === undefined) return false
        await showing.show(made.id)
        await made.close()
      }
      return turn(from === undefined ? (store.get().conversation?.leaf ?? null) : from, prompt)
    },
    async goOn(from) {
      await turn(from)
    },
    stop() {
      stops.get(store.get().openId ?? "")?.abort()
    },
    async compact() {
      const leaf = store.get().conversation?.leaf ?? null
      store.set({ notice: undefined })
      await attempt("summarize the session", async () => {
        await showing.current()?.run(async (session) => {
          // The branch that is looked at is the one to be summarized.
          if (leaf !== null && session.leafId !== leaf) await session.branch(leaf)
          const { fits, tooLarge } = await session.compact()
          if (!fits) store.set({ notice: { kind: "done", text: tooLarge ?? "It is still too long for the model." } })
        })
      })
      await listing.changed()
    },
  }
}
