/** The raw loop for IndexedDB: the same transactions as the storage (get the head, add a row, put the head; read rows in pages). */

export interface ByHand {
  /** Resolves when the transaction is complete. */
  append(session: string, line: string, expect: number): Promise<void>
  /** The number of lines of a log. */
  next(session: string): Promise<number>
  close(): void
}

interface Head {
  readonly next: number
  readonly bytes: number
}

interface Row {
  readonly from: number
  readonly text: string
}

/** Rows of just under 64 KB: a page of a megabyte. */
const ROWS_A_PAGE = 16

export async function createByHand(name: string, durability: "relaxed" | "strict"): Promise<ByHand> {
  const db = await open(name, (created) => {
    created.createObjectStore("heads", { keyPath: "id" }).createIndex("updatedAt", "updatedAt")
    created.createObjectStore("log")
  })
  return {
    append: (session, line, expect) =>
      new Promise((resolve, reject) => {
        const tx = db.transaction(["heads", "log"], "readwrite", { durability })
        const heads = tx.objectStore("heads")
        const get = heads.get(session)
        get.onsuccess = () => {
          const head = (get.result ?? { next: 0, bytes: 0 }) as Head
          if (head.next !== expect) return tx.abort()
          const row = { from: expect, bytes: line.length + 1, text: line }
          tx.objectStore("log").add(row, [session, expect, head.bytes])
          const bytes = head.bytes + row.bytes
          heads.put({ id: session, log: session, next: expect + 1, bytes, updatedAt: Date.now() })
        }
        tx.oncomplete = () => resolve()
        tx.onabort = () => reject(tx.error ?? new Error(`Somebody else has appended to ${session}.`))
      }),
    next: async (session) => {
      const head = (await answer(db.transaction("heads").objectStore("heads").get(session))) as Head
      return head.next
    },
    close: () => db.close(),
  }
}

/** Reads, splits and parses the rows that the storage wrote, prefetching one page; returns the number of lines. */
export async function replayByHand(name: string, session: string): Promise<number> {
  const db = await open(name, () => undefined)
  const { log } = (await answer(db.transaction("heads").objectStore("heads").get(session))) as { readonly log: string }
  const page = (from: number): Promise<readonly Row[]> => {
    const range = IDBKeyRange.bound([log, from], [log, []], false, true)
    return answer(db.transaction("log").objectStore("log").getAll(range, ROWS_A_PAGE)) as Promise<readonly Row[]>
  }
  let count = 0
  let rows = await page(0)
  while (rows.length > 0) {
    const last = rows.at(-1) as Row
    // Only the first row after the last page is needed.
    const following = page(last.from + 0.5)
    for (const { text } of rows) {
      for (const line of text.split("\n")) {
        JSON.parse(line)
        count++
      }
    }
    rows = await following
  }
  db.close()
  return count
}

function open(name: string, create: (db: IDBDatabase) => void): Promise<IDBDatabase> {
  const request = indexedDB.open(name)
  request.onupgradeneeded = () => create(request.result)
  return answer(request)
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
