// The imports between the files of a package, and what is wrong with them: circles, and imports against the package's layers.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, sep } from "node:path"
import ts from "typescript"

/**
 * The imports between the files below `folder`, `[{ from, to, kind }]`, with paths relative to it. Type imports, re-exports,
 * `import()` and import types all count. `isWanted`: of which files, by their paths; parsing them takes most of the time.
 */
export function importsBelow(folder, isWanted = () => true) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".ts") && isWanted(name))
    .flatMap((name) =>
      relativeImports(readFileSync(join(folder, name), "utf8")).map(({ specifier, kind }) => ({
        from: posix(name),
        to: posix(relative(folder, join(folder, dirname(name), specifier))),
        kind,
      })),
    )
    .filter(({ to }) => !to.startsWith("../"))
}

/** The relative imports of a source text, `[{ specifier, kind }]`; `kind` is `value`, `type` or `dynamic`. */
export function relativeImports(text) {
  const found = []
  const add = (node, kind) => {
    if (node !== undefined && ts.isStringLiteralLike(node) && node.text.startsWith(".")) {
      found.push({ specifier: node.text, kind })
    }
  }
  const visit = (node) => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.isTypeOnly === true ? "type" : "value")
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly ? "type" : "value")
    else if (ts.isImportTypeNode(node)) add(node.argument.literal, "type")
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], "dynamic")
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest))
  return found
}

/** The groups of files that import each other: `[{ files, path }]`, where `path` is a shortest circle through the first file. */
export function circlesOf(imports) {
  const next = new Map()
  for (const { from, to } of imports) next.set(from, [...(next.get(from) ?? []), to])
  const left = new Map([...next.keys()].map((file) => [file, reachable(file, next)]))
  const circles = []
  for (const [file, reached] of left) {
    if (!reached.has(file)) continue
    const files = [...reached.keys()].filter((other) => left.get(other)?.has(file))
    for (const other of files) left.delete(other)
    circles.push({ files, path: pathTo(file, reached) })
  }
  return circles
}

/** Every file that `start` reaches, with the file it was reached from; breadth first, so that following these back is shortest. */
function reachable(start, next) {
  const reachedFrom = new Map()
  const queue = [start]
  for (const file of queue) {
    for (const to of next.get(file) ?? []) {
      if (reachedFrom.has(to)) continue
      reachedFrom.set(to, file)
      queue.push(to)
    }
  }
  return reachedFrom
}

function pathTo(file, reachedFrom) {
  const path = [file]
  do path.unshift(reachedFrom.get(path[0]))
  while (path[0] !== file)
  return path
}

/**
 * The imports against the order of `layers`, lowest first. A layer is a list of folders and files of the same rank; a file belongs to
 * the longest entry that holds it, and imports from its own entry and from lower layers. Test files may import everything.
 */
export function againstLayers(imports, { layers }) {
  const violations = imports.flatMap(({ from, to }) => {
    if (from.endsWith(".test.ts")) return []
    const [lower, upper] = [placeOf(to, layers), placeOf(from, layers)]
    const missing = upper === undefined ? from : lower === undefined ? to : undefined
    if (missing !== undefined) return [`${missing} is in no layer`]
    if (lower.entry === upper.entry || lower.rank < upper.rank) return []
    return [`${from} imports ${to}: ${upper.entry} is not above ${lower.entry}`]
  })
  return [...new Set(violations)]
}

function placeOf(file, layers) {
  const places = layers.flatMap((entries, rank) => entries.map((entry) => ({ entry, rank })))
  return places
    .filter(({ entry }) => file === entry || file.startsWith(`${entry}/`))
    .reduce((best, one) => (best === undefined || one.entry.length > best.entry.length ? one : best), undefined)
}

function posix(path) {
  return path.split(sep).join("/")
}
