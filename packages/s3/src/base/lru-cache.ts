/** What was asked for last, up to a number of bytes. */
export interface Cache<V> {
  get(key: string): V | undefined
  set(key: string, value: V, bytes: number): void
  delete(key: string): void
}

export function createCache<V>(capacity: number): Cache<V> {
  const entries = new Map<string, { readonly value: V; readonly bytes: number }>()
  let held = 0
  const remove = (key: string): void => {
    held -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }
  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      // A Map keeps the order of insertion, so that the first is always the one unused for longest.
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key, value, bytes) {
      remove(key)
      if (bytes > capacity) return
      entries.set(key, { value, bytes })
      held += bytes
      for (const oldest of entries.keys()) {
        if (held <= capacity) break
        remove(oldest)
      }
    },
    delete: remove,
  }
}
