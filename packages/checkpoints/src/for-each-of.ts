/** Calls an asynchronous function for all items, at most `limit` at once, and rejects with the first error once none is running. */
export async function forEachOf<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void> | void,
): Promise<void> {
  const left = items[Symbol.iterator]()
  let failed: { readonly error: unknown } | undefined
  const lane = async (): Promise<void> => {
    for (let next = left.next(); !next.done && failed === undefined; next = left.next()) {
      try {
        await work(next.value)
      } catch (error) {
        failed ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: limit }, lane))
  if (failed !== undefined) throw failed.error
}
