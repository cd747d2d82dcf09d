// The site of the documentation: the pages of docs/ and, below /api/, the reference that build.mjs has made of the docstrings. The build
// fails at a dead link. Nothing is loaded from elsewhere: the search is local, and the fonts are part of the site.
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitepress"
import { HALVES } from "../../.tools/lib/pages.mjs"

const page = (text, link) => ({ text, link })

/** The READMEs of packages and examples, whose pages build.mjs has written. */
const readmes = readdirSync(fileURLToPath(new URL("../pages/packages", import.meta.url))).map((file) =>
  file.slice(0, -".md".length),
)
const isExample = (name) => name.startsWith("example-")

/** The contrast that axe asks for; the name of the search button would have to repeat the keys in it. */
const CONTRAST =
  "html:root{--vp-code-lang-color:var(--vp-c-text-1)}html:root:not(.dark){--vp-button-brand-bg:var(--vp-c-brand-1)}.DocSearch-Button-Keys{display:none!important}"

/** A word is in the names of the API and in the READMEs more often than on the page that explains it. The browser runs this function by its text. */
const pagesFirst = (id) => (/\/(?:api|packages|project)\//.test(id) ? 0.05 : 1)

export default defineConfig({
  srcDir: "pages",
  outDir: "dist",
  title: "@sessions",
  description: "The session log for AI agents",
  lang: "en",
  head: [
    ["meta", { name: "referrer", content: "no-referrer" }],
    ["style", {}, CONTRAST],
  ],
  markdown: { theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" } },
  themeConfig: {
    search: { provider: "local", options: { miniSearch: { searchOptions: { boostDocument: pagesFirst } } } },
    outline: [2, 3],
    // axe asks that the name of the link has its text.
    notFound: { linkText: "Go to the start", linkLabel: "Go to the start" },
    nav: [page("Getting started", "/getting-started"), page("Recipes", "/recipes"), page("API", "/api/")],
    // Groups that fold would be buttons with a button in them, which axe refuses.
    sidebar: [
      ...Object.entries(HALVES).map(([text, groups]) => ({
        text,
        items: Object.entries(groups).map(([group, pages]) => ({
          text: group,
          items: Object.entries(pages).map(([name, title]) => page(title, `/${name}`)),
        })),
      })),
      { text: "API", items: [page("API reference", "/api/")] },
      {
        text: "Packages",
        items: readmes.filter((name) => !isExample(name)).map((name) => page(name, `/packages/${name}`)),
      },
      {
        text: "Examples",
        items: readmes.filter(isExample).map((name) => page(name.slice("example-".length), `/packages/${name}`)),
      },
      {
        text: "Project",
        items: [
          page("Changelog", "/project/changelog"),
          page("Contributing", "/project/contributing"),
          page("Security", "/project/security"),
        ],
      },
    ],
  },
})
