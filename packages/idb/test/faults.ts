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

/**
 * `answered`, or the connection is lost before the outcome is known, and it is `committed` or `aborted`. `full`: there is no space. `refused`:
 * it takes no new data, as the transaction after one that found the site full in Firefox.
 */
type Outcome = "answered" | "committed" | "aborted" | "full" | "refused"

/** What becomes of the next transactions that write. Then another tab makes the requests of `meanwhile` before the next one. */
export function loseAnswers(
  database: string,
  outcomes: readonly Outcome[],
  meanwhile?: (tx: IDBTransaction) => void,
): void {
  const left = [...outcomes]
  const restore = override(IDBDatabase.prototype, "transaction", (original) => {
    return function (this: IDBDatabase, ...args) {
      if (this.name !== database || args[1] !== "readwrite") return original.apply(this, args)
      const outcome = left.shift()
      if (outcome === undefined) meanwhile?.(original.call(this, [...this.objectStoreNames], "readwrite"))
      if (outcome === undefined || (left.length === 0 && meanwhile === undefined)) restore()
      const tx = original.apply(this, args)
      if (outcome === "committed") loseResponse(tx)
      if (outcome === "refused") refuse(tx)
      if (outcome === "aborted" || outcome === "full")
        queueMicrotask(() => {
          setError(tx, outcome === "full" ? "QuotaExceededError" : "UnknownError")
          tx.abort()
        })
      return tx
    }
  })
}

/** The transaction commits, but its listeners, which are added later, are told that it was aborted. */
function loseResponse(tx: IDBTransaction): void {
  tx.addEventListener("complete", () => setError(tx, "UnknownError"))
  override(tx, "addEventListener", (original) => (type: string, ...rest: never) => {
    if (type !== "complete") Reflect.apply(original, tx, [type === "abort" ? "complete" : type, ...rest])
  })
}

function refuse(tx: IDBTransaction): void {
  override(tx, "objectStore", (original) => (name) => {
    const store = original.call(tx, name)
    for (const method of ["add", "put"] as const)
      override(store, method, () => () => {
        throw new DOMException("injected by a test", "InvalidStateError")
      })
    return store
  })
}

function fail(fault: Fault, tx: IDBTransaction): void {
  if (fault === "responseLost") {
    loseResponse(tx)
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
