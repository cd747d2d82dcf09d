/** An in-memory store with transactions over ordered keys, for which the adapter of the guide is written. */

/** `T` maps each table to the type of its rows. */
export interface Transaction<T> {
  get<K extends keyof T>(table: K, key: string): T[K] | undefined
  put<K extends keyof T>(table: K, key: string, row: T[K]): void
  delete(table: keyof T, key: string): void
  /** The rows with `from <= key < to`, in the order of their keys or in descending order. */
  rows<K extends keyof T>(table: K, from: string, to: string, descending?: boolean): Iterable<readonly [string, T[K]]>
}

export interface Store<T> {
  read<R>(work: (tx: Transaction<T>) => R): Promise<R>
  /** Atomic and isolated: has no effect if `work` throws, and no other write happens during it. */
  write<R>(work: (tx: Transaction<T>) => R): Promise<R>
  close(): void
}

/** The stored rows by `table:key`. It outlives the connections. */
export type Disk = Map<string, unknown>

export async function connect<T>(disk: Disk): Promise<Store<T>> {
  const nameOf = (table: keyof T, key: string): string => `${String(table)}:${key}`
  const transaction = (rows: Disk): Transaction<T> => ({
    get: (table, key) => rows.get(nameOf(table, key)) as never,
    put: (table, key, row) => void rows.set(nameOf(table, key), row),
    delete: (table, key) => void rows.delete(nameOf(table, key)),
    rows(table, from, to, descending = false) {
      const [first, last] = [nameOf(table, from), nameOf(table, to)]
      const names = [...rows.keys()].filter((name) => name >= first && name < last).toSorted()
      if (descending) names.reverse()
      return names.map((name) => [name.slice(String(table).length + 1), rows.get(name)] as never)
    },
  })
  let open = true
  const begin = async (): Promise<void> => {
    await Promise.resolve()
    if (!open) throw new Error("the store is closed")
  }
  return {
    async read(work) {
      await begin()
      return work(transaction(disk))
    },
    async write(work) {
      await begin()
      const copy: Disk = new Map(disk)
      const result = work(transaction(copy))
      disk.clear()
      for (const [name, row] of copy) disk.set(name, row)
      return result
    },
    close() {
      open = false
    },
  }
}
