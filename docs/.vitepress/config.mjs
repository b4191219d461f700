import { readdirSync } from "node:fs";
import { defineConfig } from "vitepress";
import { sections } from "./sections.mjs";

/** Where the site is served: `/` unless DOCS_BASE says otherwise, such as `/holdfast/`. */
const base = process.env.DOCS_BASE ?? "/";

export default defineConfig({
  base,
  lang: "en",
  title: "Holdfast",
  titleTemplate: ":title · Holdfast",
  description: "Durable checkpoints and recovery for AI agents and long workflows.",
  cleanUrls: true,
  lastUpdated: false,
  srcExclude: ["requirements.md"],
  head: [["link", { rel: "icon", href: `${base}mark.svg`, type: "image/svg+xml" }]],
  markdown: { theme: { light: "github-light", dark: "github-dark" } },
  transformPageData: (data) => (data.params?.code ? { title: data.params.code } : undefined),
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  themeConfig: {
    logo: "/mark.svg",
    search: { provider: "local" },
    outline: [2, 3],
    nav: sections.map(({ text, items }) => ({ text, link: items[0].link, activeMatch: activeMatch(items) })),
    sidebar: sections.map(({ text, items }) => ({ text, items: items.map(withPages), collapsed: false })),
    docFooter: { prev: "Back", next: "Next" },
    footer: { message: "MIT licence" },
  },
});

/** The API reference has a page for each import path. */
function withPages(item) {
  if (item.link !== "/reference/index") return item;
  const items = readdirSync(new URL("../reference/", import.meta.url))
    .filter((file) => file !== "index.md")
    .map((file) => file.replace(/\.md$/, ""))
    .map((name) => ({ text: name, link: `/reference/${name}` }));
  return { ...item, link: "/reference/", items, collapsed: true };
}

/** @type {(items: readonly { link: string }[]) => string} */
function activeMatch(items) {
  return `^(?:${items.map(({ link }) => link).join("|")})$`;
}
