import "./tokens.css";
import "./base.css";
import "./layout.css";
import "./parts.css";
import "./tables.css";
import "./charts.css";
import "./print.css";
