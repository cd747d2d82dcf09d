import { availableParallelism } from "node:os"

/** Calls `work` with each of the items and its index, so many at a time, and resolves to the results in the order of the items. */
export async function inPool(items, work, atOnce = availableParallelism()) {
  const results = []
  const left = [...items.entries()]
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [index, item] = next
      results[index] = await work(item, index)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
