/** Injects faults into the engine's own objects: the next transaction that writes to a log fails. */

export type Fault = "quota" | "requestLost" | "responseLost"

/** How many transactions in a row fail: a storage whose quota is exceeded tries once more. */
const TIMES: Readonly<Record<Fault, number>> = { quota: 2, requestLost: 1, responseLost: 1 }

/** Makes the next append to the database fail, by any storage object. */
export function inject(database: string, fault: Fault): void {
  let left = TIMES[fault]
  const restore = override(IDBDatabase.prototype, "transaction", (original) => {
    return function (this: IDBDatabase, ...args) {
      const tx = original.apply(this, args)
      if (this.name !== database || tx.mode !== "readwrite" || !tx.objectStoreNames.contains("log")) return tx
      if (--left === 0) restore()
      fail(fault, tx)
      return tx
    }
  })
}

function fail(fault: Fault, tx: IDBTransaction): void {
  if (fault === "responseLost") {
    // Registered before any listener of the storage: the transaction commits, but the storage sees an abort.
    tx.addEventListener("complete", (event) => {
      event.stopImmediatePropagation()
      setError(tx, "UnknownError")
      tx.dispatchEvent(new Event("abort"))
    })
    return
  }
  const store = tx.objectStore("log")
  override(store, "add", (original) => (...args) => {
    const request = original.apply(store, args)
    setError(tx, fault === "quota" ? "QuotaExceededError" : "UnknownError")
    tx.abort()
    return request
  })
}

/** Replaces a method; returns a function that restores it. */
function override<T extends object, K extends keyof T>(on: T, name: K, make: (original: T[K]) => T[K]): () => void {
  const original = on[name]
  on[name] = make(original)
  return () => {
    on[name] = original
  }
}

/** The reason of an abort. */
function setError(tx: IDBTransaction, name: string): void {
  Object.defineProperty(tx, "error", { value: new DOMException("injected by a test", name) })
}
