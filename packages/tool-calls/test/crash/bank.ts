/**
 * The receiver of the calls: a folder outside of all storages, in which each request is a line before it has an effect. It is the truth that the logs
 * are compared with. One that takes keys charges once under each.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Charge, receiptOf } from "./plan.ts"

export interface Bank {
  /** Charges, and returns the receipt. */
  readonly charge: (charge: Charge) => string
  /** The receipt of what was charged under a key. */
  readonly find: (key: string) => string | undefined
  readonly requests: () => readonly Charge[]
  readonly charges: () => readonly Charge[]
}

export function openBank(folder: string, takesKeys: boolean): Bank {
  const read = (name: string): readonly Charge[] => {
    const file = join(folder, name)
    if (!existsSync(file)) return []
    const lines = readFileSync(file, "utf8").split("\n").slice(0, -1)
    return lines.map((line) => ({ callId: line.split(" ")[0] ?? "", key: line.split(" ")[1] ?? "" }))
  }
  const bank: Bank = {
    charge(charge) {
      const line = `${charge.callId} ${charge.key}\n`
      appendFileSync(join(folder, "requests"), line)
      if (!takesKeys || isFirst(join(folder, `key-${charge.key}`))) appendFileSync(join(folder, "charges"), line)
      return receiptOf(charge)
    },
    find(key) {
      const found = bank.charges().find((charge) => charge.key === key)
      return found && receiptOf(found)
    },
    requests: () => read("requests"),
    charges: () => read("charges"),
  }
  return bank
}

function isFirst(file: string): boolean {
  try {
    writeFileSync(file, "", { flag: "wx" })
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EEXIST") throw error
    return false
  }
}
