/** A cache with a limit in bytes that evicts the least recently used entries. */
export interface LruCache<V> {
  get(key: string): V | undefined
  set(key: string, value: V, bytes: number): void
  delete(key: string): void
}

export function createLruCache<V>(capacity: number): LruCache<V> {
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
      // A Map keeps insertion order, so its first entry is always the least recently used one.
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
