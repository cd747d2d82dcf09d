// The reference of the public API of all packages, as Markdown, from the docstrings of their entries.
import { entries } from "./entries.mjs"

export default {
  entryPoints: entries.map(({ file }) => file),
  tsconfig: "pages/tsconfig.json",
  plugin: ["typedoc-plugin-markdown"],
  out: "pages/api",
  readme: "none",
  name: "API",
  entryFileName: "index",
  outputFileStrategy: "modules",
  excludeInternal: true,
  excludePrivate: true,
  excludeExternals: true,
  disableSources: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  // A type that an entry does not export has no page; the text names it.
  validation: { notExported: false, invalidLink: false },
  skipErrorChecking: true,
  logLevel: "Error",
}
