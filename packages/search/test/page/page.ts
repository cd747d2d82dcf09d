/** The test page: everything that a page keeps in IndexedDB. In a frame it tells the page around it how its calls ended. */
import { createSessions } from "@sessions/core"
import { createIndexedDbHistory } from "@sessions/history/indexeddb"
import { createIndexedDbStorage } from "@sessions/idb"
import { createMemoryStorage } from "@sessions/memory"
import { createSearch } from "../../src/index.ts"
import { createIndexedDbIndex } from "../../src/indexeddb/index.ts"

export interface Outcome {
  readonly code: unknown
  readonly message: string
}

/** How one call on each database ended, and what the functions for the space of the site returned. */
export interface Outcomes {
  readonly storage: Outcome
  readonly session: Outcome
  readonly search: Outcome
  readonly history: Outcome
  readonly space: unknown
}

export interface FullSite {
  /** The codes of all writes that did not fit. */
  readonly refused: readonly unknown[]
  /** How many messages were acknowledged, and how many a reload finds. */
  readonly messages: readonly [acknowledged: number, found: number]
  /** The sessions of the hits, and those that the index had no space for. */
  readonly hits: readonly string[]
  readonly unreadable: readonly { readonly id: string; readonly code: unknown }[]
  readonly deleted: readonly unknown[]
}

export interface PageTests {
  calls(): Promise<Outcomes>
  callsInSandbox(): Promise<Outcomes>
  fillSite(): Promise<FullSite>
  /** The sessions of the hits, once there is space. */
  searchAgain(): Promise<readonly string[]>
}

const tests: PageTests = {
  async calls() {
    const storage = createIndexedDbStorage()
    const sessions = createSessions({ storage })
    const search = createSearch({ storage: createMemoryStorage(), index: createIndexedDbIndex() })
    const history = createIndexedDbHistory()
    return {
      storage: await outcomeOf(storage.head("a")),
      session: await outcomeOf(sessions.openOrCreate("a")),
      search: await outcomeOf(search.search("word")),
      history: await outcomeOf(history.recent()),
      // Not `persist`, for which Firefox waits for its user.
      space: [await storage.persisted(), typeof (await storage.estimate())],
    }
  },

  callsInSandbox() {
    const frame = document.createElement("iframe")
    frame.setAttribute("sandbox", "allow-scripts")
    frame.src = location.href
    const answer = new Promise<Outcomes>((resolve) => {
      addEventListener("message", ({ data }) => resolve(data as Outcomes), { once: true })
    })
    document.body.append(frame)
    return answer
  },

  async fillSite() {
    const { storage, sessions, search } = open()
    for (const id of ["old-0", "old-1"]) {
      const session = await sessions.create({ id })
      await session.append(said(`needle ${noise(50_000)}`))
      await session.close()
    }
    await search.search("needle")
    const talk = await sessions.create({ id: "talk" })
    await talk.append(said(`needle ${noise(60_000)}`))
    const refused: unknown[] = []
    const bytes = randomBytes(1_500_000)
    for (let size = bytes.length; size > 1_000; ) {
      // Each blob is another one.
      bytes[0] = (bytes[0] ?? 0) + 1
      const { code } = await outcomeOf(storage.blobs.put(bytes.subarray(0, size)))
      if (code === undefined) continue
      refused.push(code)
      size = Math.floor(size / 2)
    }
    let acknowledged = 1
    for (let n = 0; n < 6; n++) {
      const { code } = await outcomeOf(talk.append(said(noise(30_000))))
      if (code === undefined) acknowledged++
      else refused.push(code)
    }
    const reloaded = await createSessions({ storage: createIndexedDbStorage() }).open("talk")
    const { hits, unreadable } = await search.search("needle")
    const deleted = [await outcomeOf(sessions.delete("old-1")), await outcomeOf(deleteBlobs(storage))]
    return {
      refused,
      messages: [acknowledged, (await reloaded.info()).messageCount],
      hits: hits.map(({ session }) => session),
      unreadable: unreadable.map(({ id, error }) => ({ id, code: (error as { code?: unknown }).code })),
      deleted: deleted.map(({ code }) => code),
    }
  },

  async searchAgain() {
    const { hits } = await open().search.search("needle")
    return hits.map(({ session }) => session).toSorted()
  },
}

function open() {
  const storage = createIndexedDbStorage()
  const search = createSearch({ storage, index: createIndexedDbIndex() })
  return { storage, search, sessions: createSessions({ storage }) }
}

async function deleteBlobs(storage: ReturnType<typeof createIndexedDbStorage>): Promise<void> {
  for await (const { hash } of storage.blobs.list()) await storage.blobs.delete(hash)
}

async function outcomeOf(call: Promise<unknown>): Promise<Outcome> {
  try {
    await call
    return { code: undefined, message: "" }
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown }
    return { code, message }
  }
}

function said(content: string) {
  return { type: "message", message: { role: "user", content } } as const
}

/** One word of random letters, which does not compress. */
function noise(length: number): string {
  return Array.from(randomBytes(length), (byte) => String.fromCharCode(97 + (byte % 26))).join("")
}

function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  return bytes
}

Object.assign(globalThis, { tests })
if (parent !== window) void tests.calls().then((outcomes) => parent.postMessage(outcomes, "*"))
