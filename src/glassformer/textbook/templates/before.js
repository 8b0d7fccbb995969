// Runs before the page is shown, so that it never appears in the wrong colours first.
document.documentElement.className = "";
try {
  document.documentElement.dataset.theme = localStorage.getItem("theme") || "";
} catch { /* a page from a file may not remember */ }
