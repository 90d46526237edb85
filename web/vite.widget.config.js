import { defineConfig } from "vite";

// One module with its style, which anywidget sends to notebooks.
export default defineConfig({
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: "../src/fullspan/people/notebook/static",
    emptyOutDir: true,
    cssTarget: ["chrome123", "firefox120", "safari17.5"],  // light-dark() as it is: it follows the notebook's theme
    lib: { entry: "src/widget.tsx", formats: ["es"], fileName: () => "widget.js" },
  },
});
