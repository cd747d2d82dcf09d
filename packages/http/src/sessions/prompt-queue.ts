/** The document `sessions/<id>/prompts` of a storage: read, and changed by compare-and-set. */
import { hasCode, SessionError } from "@sessions/core"
import { promptsKey } from "@sessions/core/format"
import { createQueue, type Doc, type SessionStorage, StorageError } from "@sessions/core/storage"
import { decodeQueue, encodeQueue, NO_PROMPTS, type Queue } from "./prompts.ts"

export interface QueueSnapshot {
  readonly queue: Queue
  /** Of the document; "" if there is none. */
  readonly version: string
}

/** Servers that write one document at once; each attempt lets one of them through. */
const MAX_ATTEMPTS = 50
const LONGEST_PAUSE_MS = 200

const NO_DOCUMENT: QueueSnapshot = { queue: NO_PROMPTS, version: "" }

export class PromptQueue {
  readonly #storage: SessionStorage
  readonly #session: string
  readonly #key: string
  readonly #observe: (snapshot: QueueSnapshot, own: boolean) => void
  #known: QueueSnapshot | undefined
  /** Changes of this process run one after the other, so that they do not conflict with each other. */
  readonly #changes = createQueue()

  /** `observe` gets each state that was read or written here, in order; `own`: this process wrote it. */
  constructor(
    storage: SessionStorage,
    session: string,
    observe: (snapshot: QueueSnapshot, own: boolean) => void = () => undefined,
  ) {
    this.#storage = storage
    this.#session = session
    this.#key = promptsKey(session)
    this.#observe = observe
  }

  read(): Promise<QueueSnapshot> {
    return this.#changes.run(() => this.#read())
  }

  /**
   * Stores what `change` makes of the queue; nothing if it returns the same object. `change` may run several times, each on a newer state.
   * `not_found` if the session is gone.
   */
  update<T>(change: (queue: Queue) => Change<T> | Promise<Change<T>>): Promise<T> {
    return this.#changes.run(async () => {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const known = this.#known
        const before = known ?? (await this.#read())
        const { queue, result } = await change(before.queue)
        if (queue === before.queue) {
          if (known === undefined) return result
          // The remembered state may be old: decide on the stored one.
          this.#known = undefined
          continue
        }
        const version = await this.#put(queue, before)
        if (version === undefined) {
          await pause(attempt)
          continue
        }
        this.#set({ queue, version }, true)
        return result
      }
      const message = `The prompts of ${this.#session} could not be changed: other servers change them all the time. Try again.`
      throw new StorageError("unavailable", message, { session: this.#session })
    })
  }

  /** The new version; undefined if the document is another one by now, or if it is not known whether this was written. */
  async #put(queue: Queue, before: QueueSnapshot): Promise<string | undefined> {
    const { docs } = this.#storage
    this.#known = undefined
    try {
      const expect = before.version === "" ? null : before.version
      const version = await docs.put(this.#key, encodeQueue(queue), { expect })
      if (expect === null) await this.#checkSession(version)
      return version
    } catch (error) {
      if (hasCode(error, "conflict") || hasCode(error, "indeterminate")) return undefined
      throw error
    }
  }

  /** A session that was deleted meanwhile must not leave a document. */
  async #checkSession(version: string): Promise<void> {
    if ((await this.#storage.head(this.#session)) !== undefined) return
    await this.#storage.docs.delete(this.#key, { expect: version })
    throw new SessionError("not_found", `There is no session ${this.#session}.`, { session: this.#session })
  }

  async #read(): Promise<QueueSnapshot> {
    const doc: Doc | undefined = await this.#storage.docs.get(this.#key)
    const isKnown = doc !== undefined && doc.version === this.#known?.version
    if (!isKnown)
      this.#set(doc === undefined ? NO_DOCUMENT : { queue: decodeQueue(doc.text), version: doc.version }, false)
    return this.#known ?? NO_DOCUMENT
  }

  #set(snapshot: QueueSnapshot, own: boolean): void {
    this.#known = snapshot
    this.#observe(snapshot, own)
  }
}

interface Change<T> {
  readonly queue: Queue
  readonly result: T
}

/** Longer at each attempt, with jitter so that two servers do not try at the same moment. */
function pause(attempt: number): Promise<void> {
  const most = Math.min(5 * 2 ** attempt, LONGEST_PAUSE_MS)
  return new Promise((resolve) => setTimeout(resolve, Math.random() * most))
}
