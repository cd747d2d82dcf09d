import { availableParallelism } from "node:os"

/** Calls `work` with each of the items, with as many at a time as there are cores, and resolves to the results in the order of the items. */
export async function inPool(items, work) {
  const results = []
  const left = [...items.entries()]
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [index, item] = next
      results[index] = await work(item)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return results
}
