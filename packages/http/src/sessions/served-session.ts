/** One session as this process serves it: its queue of prompts, the runner, the events, and the ids that were sent lately. */
import { hasCode, SessionError, type Sessions } from "@sessions/core"
import type { Head } from "@sessions/core/storage"
import { Refusal } from "../refusal.ts"
import { SessionFeed } from "./events.ts"
import { PromptQueue, type QueueSnapshot } from "./prompt-queue.ts"
import { MAX_PROMPTS } from "../sizes.ts"
import { contentOf, positionOf, type Queue, withPrompt, withStop } from "./prompts.ts"
import { refreshed } from "./put-back.ts"
import { Runner, type RunnerOptions } from "./runner.ts"
import { SentIds } from "./sent-ids.ts"
import type { EndedTurn, NewPrompt, PromptAnswer, StopAnswer } from "./types.ts"

export interface ServedOptions extends RunnerOptions {
  /** Of the runners of this repository in this process. */
  readonly runner: string
  /** Gets the errors of background work. */
  readonly onError: (error: unknown) => void
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export class ServedSession {
  readonly #sessions: Sessions
  readonly #id: string
  readonly #o: ServedOptions
  readonly #queue: PromptQueue
  readonly #sent: SentIds
  /** One for all time, so that this process never runs the session twice at once. */
  readonly #runner: Runner
  #feed: SessionFeed | undefined
  #connections = 0

  constructor(sessions: Sessions, id: string, o: ServedOptions) {
    this.#sessions = sessions
    this.#id = id
    this.#o = o
    this.#queue = new PromptQueue(sessions.storage, id, (snapshot, own) => this.#observe(snapshot, own))
    this.#sent = new SentIds(sessions.storage, id)
    this.#runner = new Runner(sessions, id, { id: o.runner, queue: this.#queue, options: o })
  }

  /** Whether something would be lost with this object. */
  get isNeeded(): boolean {
    return this.#connections > 0 || this.#runner.isNeeded
  }

  /** How many prompts wait or run. */
  async waiting(): Promise<number> {
    const { queue } = await this.#queue.read()
    return queue.prompts.length
  }

  /** The last turns that ended; undefined if the document is damaged, which only stops the prompts. */
  async ended(): Promise<readonly EndedTurn[] | undefined> {
    try {
      return (await this.#queue.read()).queue.ended
    } catch (error) {
      if (hasCode(error, "corrupt")) return undefined
      throw error
    }
  }

  /** Stores the prompt, unless it is there; resolves when it is durable. */
  async add(prompt: NewPrompt): Promise<{ readonly isNew: boolean; readonly answer: PromptAnswer }> {
    const { id } = prompt
    return this.#queue.update<{ isNew: boolean; answer: PromptAnswer }>(async (queue) => {
      const known = await this.#find(queue, prompt)
      if (known !== undefined) return { queue, result: { isNew: false, answer: { messageId: id, ...known } } }
      if (queue.prompts.length >= MAX_PROMPTS) throw full(this.#id)
      const changed = withPrompt(queue, prompt, this.#o.now())
      const answer = { messageId: id, position: positionOf(changed, id) }
      return { queue: changed, result: { isNew: true, answer } }
    })
  }

  /** Whether the prompt was sent before: waits, runs, has left the queue, or is in the log. `exists` if it had other content. */
  async known(prompt: NewPrompt): Promise<PromptAnswer | undefined> {
    const { queue } = await this.#queue.read()
    const known = await this.#find(queue, prompt)
    return known === undefined ? undefined : { messageId: prompt.id, ...known }
  }

  /** Runs what waits, as far as this process may. */
  run(): Promise<void> {
    return this.#runner.start()
  }

  async stop(messageId: string): Promise<StopAnswer> {
    const was = await this.#queue.update((queue): { queue: Queue; result: StopAnswer["was"] } => {
      const prompt = queue.prompts[positionOf(queue, messageId)]
      return { queue: withStop(queue, messageId), result: prompt?.state ?? "ended" }
    })
    if (was === "running") this.#runner.stop(messageId)
    return { messageId, was }
  }

  /** A connection to the events; `leave` must be called at its end. */
  join(): { readonly feed: SessionFeed; leave(): void } {
    if (this.#feed === undefined || this.#feed.ended) {
      this.#feed = new SessionFeed(this.#sessions, this.#id, {
        queue: this.#queue,
        runsHere: () => this.#runner.isRunning,
        onError: this.#o.onError,
      })
      this.#connections = 0
    }
    const feed = this.#feed
    this.#connections++
    let left = false
    return {
      feed,
      leave: () => {
        if (left || this.#feed !== feed) return
        left = true
        if (--this.#connections > 0) return
        this.#feed = undefined
        void feed.close()
      },
    }
  }

  /** The session is about to be deleted: its turn gets the signal. */
  suspend(): void {
    this.#runner.suspend()
  }

  /** The session was deleted, or the deletion failed and it goes on. */
  resume(deleted: boolean): void {
    this.#runner.resume()
    if (deleted) this.#feed?.deleted()
  }

  /** Ends the connections; resolves when the running turn has ended. */
  async close(): Promise<void> {
    await Promise.all([this.#feed?.close(), this.#runner.close()])
  }

  #observe(snapshot: QueueSnapshot, own: boolean): void {
    this.#feed?.observe(snapshot, own)
  }

  async #find(queue: Queue, prompt: NewPrompt): Promise<Pick<PromptAnswer, "position"> | undefined> {
    const { id } = prompt
    const position = positionOf(queue, id)
    const waiting = queue.prompts[position]
    if (waiting !== undefined) {
      if (contentOf(waiting) !== contentOf(prompt)) throw sessionExistsError(id)
      return { position }
    }
    const seq = await this.#seqOf(id)
    if (seq === undefined) return queue.ended.some(({ messageId }) => messageId === id) ? { position: null } : undefined
    if ((await this.#contentAt(id, seq)) !== contentOf(prompt)) throw sessionExistsError(id)
    return { position: null }
  }

  /** Where the log has an entry with this id. The log may be replaced meanwhile. */
  async #seqOf(id: string): Promise<number | undefined> {
    for (let attempt = 0; ; attempt++) {
      const head: Head | undefined = await this.#sessions.storage.head(this.#id)
      if (head === undefined) throw new SessionError("not_found", `There is no session ${this.#id}.`)
      try {
        return await this.#sent.find(id, head)
      } catch (error) {
        if (!hasCode(error, "conflict") || attempt === 2) throw error
      }
    }
  }

  /** The content of the user's message in this line; undefined if it is something else. */
  async #contentAt(id: string, seq: number): Promise<string | undefined> {
    const session = await this.#sessions.open(this.#id)
    try {
      // It may have been open, and another server may have written the line.
      await refreshed(session)
      for await (const entry of session.entries({ from: seq, to: seq + 1 })) {
        if (entry.id !== id || entry.type !== "message" || entry.message.role !== "user") return undefined
        const { content, attachments } = entry.message
        const [block] = content
        if (content.length !== 1 || block?.type !== "text") return undefined
        const { model } = entry as { readonly model?: NonNullable<NewPrompt["model"]> }
        return contentOf({ text: block.text, ...(attachments && { attachments }), ...(model && { model }) })
      }
      return undefined
    } finally {
      await session.close()
    }
  }
}

function sessionExistsError(id: string): SessionError {
  const message = `The id ${id} is taken by something else in this session. Send a new prompt with a new id.`
  return new SessionError("exists", message)
}

function full(session: string): Refusal {
  const message = `${MAX_PROMPTS} prompts wait in session ${session} already. Try again when a turn has ended.`
  return new Refusal(429, "too_many_prompts", message, { "retry-after": "5" })
}
