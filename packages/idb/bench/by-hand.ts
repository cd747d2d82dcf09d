/** The plainest thing that writes the same rows: get the head, compare it, add a row, put the head; read rows by pages. */

export interface ByHand {
  /** Batches number `from` to `from + times`. */
  append(session: string, batch: readonly string[], from: number, times: number): Promise<void>
  /** How many lines came. */
  replay(session: string): Promise<number>
  close(): void
}

interface Head {
  readonly next: number
  readonly bytes: number
}

/** As the storage does: rows of just under 64 KB, pages of a megabyte. */
const LINES_A_ROW = 29
const PAGE_BYTES = 1_000_000

export async function createByHand(name: string, durability: "relaxed" | "strict"): Promise<ByHand> {
  const db = await open(name)
  return {
    async append(session, batch, from, times) {
      for (let i = from; i < from + times; i++) await append(db, durability, session, i * batch.length, batch)
    },
    replay: (session) => replay(db, session),
    close: () => db.close(),
  }
}

function open(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1)
    request.onupgradeneeded = () => {
      request.result.createObjectStore("heads")
      request.result.createObjectStore("log")
    }
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

function append(
  db: IDBDatabase,
  durability: "relaxed" | "strict",
  session: string,
  expect: number,
  batch: readonly string[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const tx = db.transaction(["heads", "log"], "readwrite", { durability })
    const get = tx.objectStore("heads").get(session)
    get.onsuccess = () => {
      const head = (get.result ?? { next: 0, bytes: 0 }) as Head
      if (head.next !== expect) return tx.abort()
      let { bytes } = head
      for (let i = 0; i < batch.length; i += LINES_A_ROW) {
        const text = batch.slice(i, i + LINES_A_ROW).join("\n")
        const row = { from: expect + i, bytes: text.length + 1, text }
        tx.objectStore("log").add(row, [session, row.from, bytes])
        bytes += row.bytes
      }
      const next = expect + batch.length
      tx.objectStore("heads").put({ id: session, log: session, next, bytes, updatedAt: Date.now() }, session)
    }
    tx.oncomplete = () => resolve()
    tx.onabort = () => reject(tx.error)
  })
}

async function replay(db: IDBDatabase, session: string): Promise<number> {
  let from = 0
  let rows = 16
  let count = 0
  for (;;) {
    const page = await getAll(db, IDBKeyRange.bound([session, from], [session, []], false, true), rows)
    if (page.length === 0) return count
    let bytes = 0
    for (const row of page) {
      const lines = row.text.split("\n")
      for (const line of lines) if (line !== "") count++
      from = row.from + lines.length
      bytes += row.text.length
    }
    rows = Math.max(1, Math.floor(PAGE_BYTES / (bytes / page.length)))
  }
}

function getAll(db: IDBDatabase, range: IDBKeyRange, count: number): Promise<{ from: number; text: string }[]> {
  return new Promise((resolve, reject) => {
    const request = db.transaction("log").objectStore("log").getAll(range, count)
    request.onsuccess = () => resolve(request.result as { from: number; text: string }[])
    request.onerror = () => reject(request.error)
  })
}
