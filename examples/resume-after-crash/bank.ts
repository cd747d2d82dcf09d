/** A stand-in for a payment service: a file with a line for each charge, which takes a key and charges under it once. */
import { appendFile, readFile } from "node:fs/promises"
import { join } from "node:path"

export interface Bank {
  /** Charges once under a key: a repeated request gets the same receipt. */
  charge(key: string, amount: number): Promise<string>
  /** The receipt of a charge; undefined if there was none under this key. */
  find(key: string): Promise<string | undefined>
  /** How many charges there are. */
  count(): Promise<number>
}

export function openBank(root: string): Bank {
  const file = join(root, ".bank")
  const receipts = async (): Promise<readonly string[]> =>
    (await readFile(file, "utf8").catch(() => "")).split("\n").slice(0, -1)
  const find = async (key: string): Promise<string | undefined> =>
    (await receipts()).find((receipt) => receipt.endsWith(`under ${key}`))
  return {
    find,
    async charge(key, amount) {
      const known = await find(key)
      if (known !== undefined) return known
      const receipt = `charged ${amount} under ${key}`
      await appendFile(file, `${receipt}\n`)
      return receipt
    },
    count: async () => (await receipts()).length,
  }
}
