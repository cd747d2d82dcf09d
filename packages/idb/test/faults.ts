/** Faults of the database, brought about in the engine's own objects: the next transaction that writes to a log meets one. */

export type Fault = "quota" | "requestLost" | "responseLost"

/** How many transactions in a row meet it: a storage without room tries once more. */
const TIMES: Readonly<Record<Fault, number>> = { quota: 2, requestLost: 1, responseLost: 1 }

/** Arms a fault for the next append on the database, by whichever storage. */
export function armed(database: string, fault: Fault): void {
  let left = TIMES[fault]
  const restore = override(IDBDatabase.prototype, "transaction", (original) => {
    return function (this: IDBDatabase, ...args) {
      const tx = original.apply(this, args)
      if (this.name !== database || tx.mode !== "readwrite" || !tx.objectStoreNames.contains("log")) return tx
      if (--left === 0) restore()
      bring(fault, tx)
      return tx
    }
  })
}

function bring(fault: Fault, tx: IDBTransaction): void {
  if (fault === "responseLost") {
    // Registered before whoever made the transaction can: it is complete, and nobody is told.
    tx.addEventListener("complete", (event) => {
      event.stopImmediatePropagation()
      fail(tx, "UnknownError")
      tx.dispatchEvent(new Event("abort"))
    })
    return
  }
  const store = tx.objectStore("log")
  override(store, "add", (original) => (...args) => {
    const request = original.apply(store, args)
    fail(tx, fault === "quota" ? "QuotaExceededError" : "UnknownError")
    tx.abort()
    return request
  })
}

/** Puts another method in the place of one; gives back how to undo that. */
function override<T extends object, K extends keyof T>(on: T, name: K, make: (original: T[K]) => T[K]): () => void {
  const original = on[name]
  on[name] = make(original)
  return () => {
    on[name] = original
  }
}

/** The reason that a transaction gives for its end. */
function fail(tx: IDBTransaction, name: string): void {
  Object.defineProperty(tx, "error", { value: new DOMException("brought about by a test", name) })
}
