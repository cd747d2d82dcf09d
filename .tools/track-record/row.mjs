// A row of the track record is a file `rows/NAME.patch`: fields, one a line, then a patch that takes the fix out again.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const folder = fileURLToPath(new URL("rows", import.meta.url))

const FIELDS = ["Defect", "Found by", "Rule"]
/** What shows the defect: a test of vitest, another command with what it prints then, or a storage of `conformance/src/mutants`. */
const PROOFS = ["Test", "Command", "Mutant"]

/**
 * All rows, or those whose name contains one of `wanted`, as `{ name, defect, foundBy, rule, proofs }`. A proof is `{ kind, text, prints, patch }`: without the fix
 * that `patch` takes out, the test of `text`, `FILE > NAME`, fails, or the command fails and prints `prints`. A mutant has no patch.
 */
export function readRows(wanted = []) {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".patch"))
    .map((file) => file.slice(0, -".patch".length))
    .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
    .toSorted()
    .map((name) => ({ name, ...parseRow(name, readFileSync(join(folder, `${name}.patch`), "utf8")) }))
}

/** The fields and proofs of a row's text. */
export function parseRow(name, text) {
  const fields = {}
  const proofs = []
  // No line of a patch begins with a capital letter.
  for (const line of text.split("\n")) {
    const [, key, value] = /^([A-Z][a-z ]+): (.+)$/.exec(line) ?? []
    if (FIELDS.includes(key)) fields[key] = value
    else if (PROOFS.includes(key)) proofs.push({ kind: key, text: value, prints: undefined, patch: "" })
    else if (key === "Prints" && proofs.length > 0) proofs.at(-1).prints = value
    else if (key === undefined && proofs.length > 0) proofs.at(-1).patch += `${line}\n`
    else if (line.trim() !== "") throw new Error(`${name}: the line "${line}" belongs to no field`)
  }
  const missing = FIELDS.filter((field) => fields[field] === undefined)
  if (missing.length > 0 || proofs.length === 0) throw new Error(`${name}: lacks ${missing.join(", ") || "a proof"}`)
  for (const proof of proofs) checkProof(name, proof)
  return { defect: fields["Defect"], foundBy: fields["Found by"], rule: fields["Rule"], proofs }
}

function checkProof(name, { kind, text, prints, patch }) {
  const problem =
    kind === "Test" && !text.includes(" > ")
      ? `Test is "FILE > NAME"`
      : kind === "Command" && prints === undefined
        ? "a Command needs what it Prints when it fails"
        : (kind === "Mutant") === patch.includes("\n@@")
          ? "a Test or Command has a patch behind it, a Mutant has none"
          : undefined
  if (problem !== undefined) throw new Error(`${name}: ${problem}`)
}
