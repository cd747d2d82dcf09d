/** Runs and stops turns of the agent on the shown session, and compacts it. */
import { compact } from "@sessions/core/compaction"
import { type Activity, runTurn } from "../agent/turn.ts"
import { withTurnLock } from "../sessions/presence.ts"
import type { Context } from "./context.ts"
import type { Listing } from "./listing.ts"
import { noticeOf } from "./notices.ts"
import type { PromptRecord } from "./prompts.ts"
import type { ShownSession } from "./shown-session.ts"

export interface Turns {
  /**
   * Sends a prompt after `from`, by default after the shown leaf. Resolves to true as soon as the prompt is stored, and to false if it
   * could not be stored, so that the caller can keep the text.
   */
  readonly send: (prompt: string, from?: string | null) => Promise<boolean>
  /** Continues an interrupted turn, or answers again. */
  readonly continueTurn: (from: string | null) => Promise<void>
  readonly stop: () => void
  readonly compact: () => Promise<void>
}

export function createTurns(
  context: Context,
  shown: ShownSession,
  listing: Pick<Listing, "changed">,
  prompts: Pick<PromptRecord, "add">,
): Turns {
  const { sessions, store, attempt, model } = context
  const stops = new Map<string, AbortController>()

  function report(id: string, activity: Activity | undefined): void {
    const turns = new Map(store.get().turns)
    if (activity === undefined) turns.delete(id)
    else turns.set(id, activity)
    store.set({ turns })
  }

  /** Resolves when the prompt is stored or cannot be stored, while the turn continues. */
  function turn(from: string | null, prompt?: string): Promise<boolean> {
    return new Promise((resolve) => {
      run(from, prompt, () => resolve(true))
        .catch((error: unknown) => store.set({ notice: noticeOf(error, "finish the turn") }))
        .finally(() => resolve(false))
    })
  }

  async function run(from: string | null, prompt: string | undefined, onStored: () => void): Promise<void> {
    const opened = shown.current()
    if (opened === undefined || stops.has(opened.id)) return
    const { id } = opened
    const stop = new AbortController()
    stops.set(id, stop)
    store.set({ notice: undefined })
    report(id, { kind: "thinking" })
    const keepLeaf = shown.followLeaf(id)
    let doing = prompt === undefined ? "finish the turn" : "send the message"
    const callbacks = {
      onActivity: (activity: Activity) => report(id, activity),
      onStored() {
        doing = "finish the turn"
        onStored()
      },
    }
    const promptOption = prompt === undefined ? {} : { prompt }
    try {
      await withTurnLock(id, () =>
        opened.run((session) =>
          runTurn(session, { model: model(), from, signal: stop.signal, ...promptOption, ...callbacks }).finally(() =>
            keepLeaf(session),
          ),
        ),
      )
    } catch (error) {
      if (!stop.signal.aborted) store.set({ notice: noticeOf(error, doing) })
    } finally {
      stops.delete(id)
      report(id, undefined)
      await listing.changed()
    }
  }

  return {
    async send(prompt, from) {
      if (shown.current() === undefined) {
        const made = await attempt("make a session", () => sessions.create())
        if (made === undefined) return false
        await shown.show(made.id)
        await made.close()
      }
      const isStored = await turn(from === undefined ? (store.get().conversation?.leaf ?? null) : from, prompt)
      // The turn goes on meanwhile.
      if (isStored) void prompts.add(prompt)
      return isStored
    },
    async continueTurn(from) {
      await turn(from)
    },
    stop() {
      stops.get(store.get().openId ?? "")?.abort()
    },
    async compact() {
      const leaf = store.get().conversation?.leaf ?? null
      store.set({ notice: undefined })
      await attempt("summarize the session", async () => {
        await shown.current()?.run(async (session) => {
          // Summarizes the branch that is shown.
          if (leaf !== null && session.leafId !== leaf) await session.branch(leaf)
          let isShort = false
          const stop = session.on("compact_failed", ({ kind }) => void (isShort ||= kind === "nothing_to_cut"))
          const compacted = await compact(session).catch((error: unknown) => {
            if (!isShort) throw error
          })
          stop()
          if (compacted === undefined) {
            return store.set({
              notice: { kind: "done", text: "There is nothing to summarize yet: all of it is recent." },
            })
          }
          const { fits, tooLarge } = compacted
          if (!fits) store.set({ notice: { kind: "done", text: tooLarge ?? "It is still too long for the model." } })
        })
      })
      await listing.changed()
    },
  }
}
